//! Who may depend on whom: rules over the direct dependencies that ship.

use super::Breach;
use crate::{
    fuzz,
    workspace::{HEAVY, Member},
};

/// The crates that know one format or one server each.
pub(super) const ENGINES: [&str; 5] = [
    "tidemill-xbase",
    "tidemill-riegeli",
    "tidemill-clickhouse",
    "tidemill-cql",
    "tidemill-postgres",
];

/// Crates that may name tokio; the others are blocking and are run on a pool by who calls them.
const TOKIO: [&str; 12] = [
    "tidemill-clickhouse",
    "tidemill-cql",
    "tidemill-mysql",
    "tidemill-postgres",
    // No code: features of dependencies.
    "tidemill-features",
    "tidemill-server",
    "tidemill-sql",
    "tidemill-adbc",
    "tidemill-bench",
    "tidemill",
    "tidemill-testkit",
    "xtask",
];

pub(super) fn engines_stand_alone(members: &[Member]) -> Vec<Breach> {
    let engines = members.iter().filter(|member| ENGINES.contains(&member.name.as_str()));
    forbidden(engines, |_, name| ENGINES.contains(&name))
}

pub(super) fn datafusion_in_its_place(members: &[Member]) -> Vec<Breach> {
    // The features of DataFusion's crates are named for those that stand over it.
    let is_over_it = |name: &str| HEAVY.contains(&name) || name == "tidemill-features";
    let others = members.iter().filter(|member| !is_over_it(&member.name));
    // A leaf that depends on tidemill-sql builds DataFusion just as well.
    forbidden(others, |member, name| {
        let is_heavy = name == "datafusion" || name.starts_with("datafusion-") || HEAVY.contains(&name);
        is_heavy && !is_for_doors(member, name)
    })
}

pub(super) fn tokio_in_its_place(members: &[Member]) -> Vec<Breach> {
    let others = members.iter().filter(|member| !TOKIO.contains(&member.name.as_str()));
    forbidden(others, |member, name| {
        (name == "tokio" || name.starts_with("tokio-")) && !is_for_doors(member, name)
    })
}

pub(super) fn arrow_by_parts(members: &[Member]) -> Vec<Breach> {
    forbidden(members.iter(), |_, name| name == "arrow")
}

pub(super) fn testkit_stays_behind(members: &[Member]) -> Vec<Breach> {
    let ships = members.iter().filter(|member| member.name != "xtask");
    forbidden(ships, |_, name| name == "tidemill-testkit" || name == "xtask")
}

/// Whether only those fuzz targets need it that run a whole server: behind a feature, without which the others are built.
fn is_for_doors(member: &Member, dependency: &str) -> bool {
    member.name == fuzz::CRATE && member.optional.iter().any(|name| name == dependency)
}

fn forbidden<'a>(
    members: impl Iterator<Item = &'a Member>,
    is_forbidden: impl Fn(&Member, &str) -> bool,
) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for member in members {
        for dependency in member
            .dependencies
            .iter()
            .filter(|name| is_forbidden(member, name) && **name != member.name)
        {
            breaches.push(Breach::new(&member.name, format!("depends on {dependency}")));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rule = fn(&[Member]) -> Vec<Breach>;

    #[test]
    fn each_rule_fails_on_what_it_forbids_and_passes_what_it_allows() {
        let rows: [(Rule, &str, &str, bool); 15] = [
            (engines_stand_alone, "tidemill-xbase", "tidemill-riegeli", false),
            (engines_stand_alone, "tidemill-cql", "tidemill-clickhouse", false),
            (engines_stand_alone, "tidemill-sql", "tidemill-riegeli", true),
            (datafusion_in_its_place, "tidemill-ads", "datafusion", false),
            (datafusion_in_its_place, "tidemill-bench", "datafusion-expr", false),
            (datafusion_in_its_place, "tidemill-bench", "tidemill-sql", false),
            (datafusion_in_its_place, "tidemill-sql", "datafusion", true),
            (datafusion_in_its_place, "tidemill-features", "datafusion-expr", true),
            (tokio_in_its_place, "tidemill-xbase", "tokio", false),
            (tokio_in_its_place, "tidemill-ads", "tokio-util", false),
            (tokio_in_its_place, "tidemill-cql", "tokio", true),
            (arrow_by_parts, "tidemill-xbase", "arrow", false),
            (arrow_by_parts, "tidemill-xbase", "arrow-array", true),
            (testkit_stays_behind, "tidemill-xbase", "tidemill-testkit", false),
            (testkit_stays_behind, "xtask", "tidemill-testkit", true),
        ];
        for (rule, name, dependency, allowed) in rows {
            let member = Member {
                name: name.into(),
                dependencies: vec![dependency.into()],
                ..Member::default()
            };
            assert_eq!(rule(&[member]).is_empty(), allowed, "{name} -> {dependency}");
        }
    }

    #[test]
    fn only_the_fuzz_targets_of_doors_may_have_a_server_behind_a_feature() {
        let rows: [(Rule, &str, &str, bool, bool); 6] = [
            (datafusion_in_its_place, "tidemill-fuzz", "tidemill-server", true, true),
            (
                datafusion_in_its_place,
                "tidemill-fuzz",
                "tidemill-server",
                false,
                false,
            ),
            (
                datafusion_in_its_place,
                "tidemill-bench",
                "tidemill-server",
                true,
                false,
            ),
            (tokio_in_its_place, "tidemill-fuzz", "tokio", true, true),
            (tokio_in_its_place, "tidemill-fuzz", "tokio", false, false),
            (tokio_in_its_place, "tidemill-xbase", "tokio", true, false),
        ];
        for (rule, name, dependency, is_optional, allowed) in rows {
            let dependencies = vec![dependency.to_owned()];
            let member = Member {
                name: name.into(),
                optional: if is_optional { dependencies.clone() } else { Vec::new() },
                dependencies,
                ..Member::default()
            };
            assert_eq!(rule(&[member]).is_empty(), allowed, "{name} -> {dependency}");
        }
    }
}
