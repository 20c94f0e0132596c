//! What was run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidemill_trust::without_secrets;

/// What was run, against what, and how. Holds no passwords: see [`RunConfig::without_secrets`].
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct RunConfig {
    /// Which program made the report, with its version.
    pub client: String,
    /// When it started, in milliseconds since 1970 in UTC.
    pub started_ms: i64,
    /// `run` or `load`.
    pub command: String,
    /// The script.
    pub workload: String,
    /// The functions that were called.
    pub functions: Vec<WeightedFunction>,
    /// The server or folder, as it was given.
    pub target: String,
    /// The server's name for its cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The server's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_version: Option<String>,
    /// Tags of the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Parameters of the script.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// Threads of the client.
    pub threads: u64,
    /// Connections to each server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
    /// Cycles at a time.
    pub concurrency: u64,
    /// Cycles a second that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// How long the warm-up was to be: `10s`, or a number of cycles.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub warm_up: String,
    /// How long the run was to be: `60s`, or a number of cycles.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub duration: String,
    /// How long a sample was to be: `1s`, or a number of cycles.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sampling: String,
    /// Of how many cores the client had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<usize>,
    /// Whatever else was set, as the options have it: consistency, timeouts, retries.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// A function and how often it is called among the others.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct WeightedFunction {
    /// Its name in the script.
    pub name: String,
    /// Its weight.
    pub weight: f64,
}

impl RunConfig {
    /// The functions with their weights, as `-f` takes them.
    pub fn function_list(&self) -> String {
        let functions = self.functions.iter();
        let functions = functions.map(|function| match function.weight {
            1.0 => function.name.clone(),
            weight => format!("{}:{weight}", function.name),
        });
        functions.collect::<Vec<_>>().join(",")
    }

    /// The same with passwords taken out: those in URLs, and parameters and settings whose names say that they hold one.
    pub fn without_secrets(&self) -> Self {
        let mut config = self.clone();
        config.target = without_secrets(&config.target).into_owned();
        for (name, value) in config.params.iter_mut().chain(&mut config.settings) {
            let name = name.to_ascii_lowercase();
            if ["password", "passwd", "secret", "token"]
                .iter()
                .any(|word| name.contains(word))
            {
                value.clear();
            } else {
                *value = without_secrets(value).into_owned();
            }
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_taken_out() {
        let config = RunConfig {
            target: "cql://a:s3cret@one cql://b:s3cret@two".into(),
            params: [("db_password".into(), "s3cret".into()), ("rows".into(), "7".into())].into(),
            settings: [("proxy".into(), "http://u:s3cret@p".into())].into(),
            ..RunConfig::default()
        };
        let text = serde_json::to_string(&config.without_secrets()).unwrap();
        assert!(!text.contains("s3cret"), "{text}");
        assert!(
            text.contains("cql://a:***@one cql://b:***@two") && text.contains("\"rows\":\"7\""),
            "{text}"
        );
    }
}
