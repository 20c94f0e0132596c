//! Both ways to run a function give the same.

use std::fs;

use futures::executor::block_on;

use super::super::{Called, Data, Limits, Program};
use super::{Compiled, Parameters};

const HEAD: &str = r#"
const ROWS = latte::param!("rows", 1000);
const NAME = "a name";
const KEY = "key";
fn twice(n) { n * 2 }
fn sum(a, b) { twice(a) + b }
"#;

fn program(text: &str) -> Program {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.rn");
    fs::write(&path, format!("{HEAD}{text}")).unwrap();
    let parameters = [("rows".to_owned(), "77".to_owned())];
    Program::load(&path, &parameters, "cql", Limits::default()).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn compiled(text: &str) -> Option<Compiled> {
    let program = program(text);
    program.compile(&program.function("run").unwrap())
}

fn data(parameters: Parameters<'_>) -> Data {
    Data::of(&parameters.to_value().unwrap()).unwrap()
}

const CYCLES: [i64; 8] = [0, 1, -1, 41, 76, 1_000_003, i64::MAX, i64::MIN];

const EXPRESSIONS: [&str; 40] = [
    "i",
    "i + 1",
    "i - 1",
    "i * 3 - 7",
    "i % 10",
    "i % ROWS",
    "i / 3",
    "1 / i",
    "i % (i - 41)",
    "i / -1",
    "-5",
    "i * i",
    "ROWS",
    "NAME",
    "\"grüße\"",
    "true",
    "1.5",
    "1.5 * 2.0 - 0.25",
    "i + 1.5",
    "7.5 % 2.0",
    "latte::hash(i)",
    "latte::hash2(i, 7)",
    "latte::hash(i) % ROWS",
    "latte::hash_range(i, ROWS)",
    "latte::hash_range(i, i - 1)",
    "latte::uuid(i)",
    "latte::text(i, 12)",
    "latte::text(1, i)",
    "latte::blob(i, 9)",
    "latte::normal(i, 1.0, 2.0)",
    "latte::normal_f32(i, 1.0, 0.0 - 2.0)",
    "latte::uniform(i, 0.0, 1.0)",
    "latte::normal_vec(i, 3, 0.0, 1.0)",
    "latte::hash(i).clamp(10, 20)",
    "(i % 300).to_i8()",
    "latte::is_none(i)",
    "latte::target()",
    "sum(i, twice(3))",
    "Some(i)",
    "None",
];

#[test]
fn expressions_have_the_values_of_the_machine() {
    for expression in EXPRESSIONS {
        let program = program(&format!(
            "pub async fn run(ctx, i) {{ ctx.execute_prepared(KEY, [i, {expression}]).await?; }}
             pub fn values(i) {{ [i, {expression}] }}"
        ));
        let run = program.compile(&program.function("run").unwrap());
        let mut run = run.unwrap_or_else(|| panic!("{expression} needs the machine"));
        assert_eq!((run.key(), run.is_heeded()), (Some("key"), true));
        let values = program.function("values").unwrap();
        for cycle in CYCLES {
            let machine = block_on(program.call(&mut program.machine(), &values, (cycle,)));
            match (run.evaluate(cycle), machine) {
                (Some(parameters), Ok(value)) => {
                    let expected = data(Parameters::Value(&value));
                    assert_eq!(data(parameters), expected, "{expression} of {cycle}");
                }
                // The machine is asked, and says what is wrong.
                (None, Err(Called::Stopped(_))) => {}
                (ours, machine) => panic!("{expression} of {cycle}: {ours:?}, the machine {machine:?}"),
            }
        }
    }
}

#[test]
fn knows_the_common_shapes() {
    for (body, key, is_heeded) in [
        ("", None, false),
        ("Ok(())", None, false),
        ("i / 3", None, false),
        ("ctx.execute_prepared(KEY, [i]).await?", Some("key"), true),
        ("ctx.execute_prepared(KEY, [i]).await?;", Some("key"), true),
        ("ctx.execute_prepared(KEY, [i]).await", Some("key"), true),
        (
            "ctx.execute_prepared(\"other\", (i, 1)).await?; Ok(())",
            Some("other"),
            true,
        ),
        (
            "let n = i % 5; ctx.execute_prepared(KEY, #{ b: n, a: NAME }).await?;",
            Some("key"),
            true,
        ),
        ("ctx.execute_prepared(KEY, []).await?;", Some("key"), true),
        ("let _ = ctx.execute_prepared(KEY, [i]).await;", Some("key"), false),
        ("other(ctx, i).await", Some("key"), true),
    ] {
        let text = format!(
            "pub async fn run(ctx, i) {{ {body} }}
             pub async fn other(ctx, i) {{ ctx.execute_prepared(KEY, [i]).await }}"
        );
        let run = compiled(&text).unwrap_or_else(|| panic!("{body:?} needs the machine"));
        assert_eq!((run.key(), run.is_heeded()), (key, is_heeded), "{body:?}");
    }
}

#[test]
fn leaves_the_rest_to_the_machine() {
    for body in [
        "if i > 5 { ctx.execute_prepared(KEY, [i]).await?; }",
        "for n in 0..2 { ctx.execute_prepared(KEY, [n]).await?; }",
        "ctx.execute_prepared(KEY, [i]).await?; ctx.execute_prepared(KEY, [i]).await?;",
        "ctx.execute_prepared(KEY, [i]).await?; i / 0",
        "ctx.execute_prepared(KEY, [i]);",
        "other(ctx, i);",
        "ctx.execute_prepared(`${KEY}${i}`, [i]).await?;",
        "ctx.execute_prepared(KEY, [ctx.data.rows]).await?;",
        "ctx.execute_prepared(KEY, [latte::now_timestamp()]).await?;",
        "ctx.execute_prepared_with_result(KEY, [i]).await?;",
        "ctx.execute(\"DROP TABLE t\").await?;",
        "ctx.load_cycle_count = i;",
        "i / 0; panic!(\"no\")",
        "Err(1)",
    ] {
        let text = format!(
            "pub async fn run(ctx, i) {{ {body} }}
             pub async fn other(ctx, i) {{ ctx.execute_prepared(KEY, [i]).await }}"
        );
        assert!(compiled(&text).is_none(), "{body:?} needs the machine");
    }
}
