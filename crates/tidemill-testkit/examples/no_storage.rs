//! Starts a Cassandra and the endpoint before it that stores nothing, for measuring by hand: the word that is given, or INSERT, is in the
//! statements that the endpoint answers itself. Both end with standard input.

use std::io::Read as _;

use tidemill_testkit::{Cassandra, NoStorage};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let word = std::env::args().nth(1).unwrap_or_else(|| "INSERT".to_owned());
    let Some(node) = Cassandra::need() else {
        return Err("there is no Cassandra".into());
    };
    let endpoint = NoStorage::start(node.native(), &word)?;
    println!("cassandra {}\nendpoint {}", node.native(), endpoint.address());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    println!("{} answers without storage", endpoint.answered());
    Ok(())
}
