use std::error::Error;

/// The text of an error and of what caused it, each said once.
///
/// ```
/// #[derive(Debug)]
/// struct Connecting(std::io::Error);
///
/// impl std::fmt::Display for Connecting {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         f.write_str("cannot connect")
///     }
/// }
///
/// impl std::error::Error for Connecting {
///     fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
///         Some(&self.0)
///     }
/// }
///
/// let error = Connecting(std::io::Error::other("the cable is cut"));
/// assert_eq!(tidemill_trust::with_causes(&error), "cannot connect: the cable is cut");
/// ```
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}
