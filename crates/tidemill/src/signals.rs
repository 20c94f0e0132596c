//! The signals that ask a program to end.

/// Waits for one and gives its number: 1 for HUP, 2 for INT, 15 for TERM.
#[cfg(unix)]
pub(crate) async fn next() -> anyhow::Result<u8> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(tokio::select! {
        _ = hangup.recv() => 1,
        _ = interrupt.recv() => 2,
        _ = terminate.recv() => 15,
    })
}

/// Waits for Ctrl-C, which is called 2 here too.
#[cfg(not(unix))]
pub(crate) async fn next() -> anyhow::Result<u8> {
    tokio::signal::ctrl_c().await?;
    Ok(2)
}
