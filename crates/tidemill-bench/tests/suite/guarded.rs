//! Workloads against a Cassandra that wants a password, over connections that are encrypted; and what else only the driver does.

use std::time::{Duration, Instant};

use crate::common::{Bench, Ran};
use tidemill_testkit::{Cassandra, ServerPem};

const WORKLOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/workloads/key_value.rn");
const PASSWORD: &str = "cassandra";

fn run(bench: &Bench, password: &str, arguments: &[&str]) -> Ran {
    let mut command = bench.command(arguments);
    command
        .env("CASSANDRA_USER", "cassandra")
        .env("CASSANDRA_PASSWORD", password);
    Ran::from(command.output().unwrap())
}

#[test]
fn workloads_run_over_tls_with_a_password() {
    let own = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        rcgen::generate_simple_self_signed(names).unwrap()
    };
    let server = own(&["127.0.0.1"]);
    let pem = ServerPem {
        certificate: server.cert.pem(),
        key: server.signing_key.serialize_pem(),
        client_authority: None,
    };
    let Some(node) = Cassandra::need_guarded(&pem) else {
        return;
    };
    let bench = Bench::new(node.native().to_string());
    bench.write("ca.pem", &pem.certificate);
    bench.write("other.pem", &own(&["127.0.0.1"]).cert.pem());
    let verified = ["--ssl", "--ssl-ca", "ca.pem", "--ssl-peer-verification"];

    // The first user is made while the node comes up.
    let begun = Instant::now();
    loop {
        let ran = run(&bench, PASSWORD, &[&["schema", WORKLOAD][..], &verified].concat());
        if ran.code == Some(0) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", ran.err);
        std::thread::sleep(Duration::from_millis(500));
    }
    let load = ["load", WORKLOAD, "-P", "rows=300"];
    run(&bench, PASSWORD, &[&load[..], &verified].concat()).good();
    let ways: [&[&str]; 6] = [
        &verified,
        &["--ssl"],
        &[],
        &["--ssl", "--compression", "lz4"],
        &["--ssl", "--datacenter", "datacenter1", "--rack", "rack1"],
        // Nobody is in that rack: the others of the data centre are asked.
        &[
            "--datacenter",
            "datacenter1",
            "--rack",
            "elsewhere",
            "--speculate-after",
            "1ms",
        ],
    ];
    for way in ways {
        let measured = [
            "run", WORKLOAD, "-P", "rows=300", "-d", "600", "-p", "32", "-o", "r.json",
        ];
        let functions = ["-f", "read:0.7,write:0.3"];
        let ran = run(&bench, PASSWORD, &[&measured[..], &functions, way].concat());
        ran.good();
        let results = &bench.results("r.json")[0];
        assert_eq!(results["requests"], 600, "{way:?}");
        let read = &results["statements"]["read"];
        assert!(read["requests"].as_u64().unwrap() > 300, "{way:?}");
        // Every key was loaded, and the rows came back through all of it.
        assert_eq!(read["rows"], read["requests"], "{way:?}");
    }

    // What is wrong is said, and no password with it.
    let refusals: [(&str, &[&str], &str); 5] = [
        ("swordfish", &[], "password"),
        ("swordfish", &["--ssl"], "password"),
        (
            PASSWORD,
            &["--ssl", "--ssl-ca", "other.pem", "--ssl-peer-verification"],
            "certificate",
        ),
        (PASSWORD, &["--ssl", "--ssl-peer-verification"], "certificate"),
        (
            PASSWORD,
            &["--ssl", "--ssl-ca", "none.pem", "--ssl-peer-verification"],
            "none.pem",
        ),
    ];
    for (password, way, why) in refusals {
        let ran = run(&bench, password, &[&["run", WORKLOAD, "-d", "1"][..], way].concat());
        assert_eq!(ran.code, Some(2), "{way:?}: {}", ran.err);
        assert!(ran.err.to_lowercase().contains(why), "{way:?}: {}", ran.err);
        assert!(!ran.err.contains("swordfish"), "{}", ran.err);
    }
    let report = std::fs::read_to_string(bench.file("r.json")).unwrap();
    assert!(
        !report.contains(&format!("password\":\"{PASSWORD}")),
        "the report has the password"
    );
}
