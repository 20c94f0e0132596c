//! The methods of a context that ask the store.

use std::rc::Rc;
use std::time::Instant;

use rune::runtime::{Ref, TypeValue};
use rune::{ContextError, Module, Value};
use tokio::time::sleep;

use super::unawaited::call;
use super::validation::Expected;
use super::{Context, Failure, FailureKind, Validation};
use crate::args::parse_duration;
use crate::stats::StatementId;
use crate::target::{Answer, BatchKind, Session as _, StatementOptions, Wanted};

impl Context {
    /// Asks until the answer is good or the policy says that it is enough, and records the whole as one request.
    async fn request(
        &self,
        statement: StatementId,
        expected: Option<&Expected>,
        attempt: impl AsyncFn() -> Result<Answer, Failure>,
    ) -> Result<Answer, Failure> {
        let sent = Instant::now();
        self.recorder.borrow_mut().request_started(sent);
        let first = attempt().await;
        self.settle(statement, expected, sent, first, attempt).await
    }

    /// Continues from the answer to the first attempt.
    pub(super) async fn settle(
        &self,
        statement: StatementId,
        expected: Option<&Expected>,
        sent: Instant,
        mut answer: Result<Answer, Failure>,
        attempt: impl AsyncFn() -> Result<Answer, Failure>,
    ) -> Result<Answer, Failure> {
        let mut retries = 0;
        let answer = loop {
            let checked = answer.and_then(|answer| match expected {
                Some(expected) => expected.check(expected.found(&answer)).map(|()| answer),
                None => Ok(answer),
            });
            match checked {
                Err(failure) if retries < self.policy.retries && self.retries(failure.kind) => {
                    retries += 1;
                    tracing::warn!(error = %failure, retries, "a request is sent again");
                    // Few requests come here, and all are moved with what they wait for.
                    Box::pin(sleep(self.policy.delay.before(retries, rand::random()))).await;
                    answer = Box::pin(attempt()).await;
                }
                checked => break checked,
            }
        };
        // What the driver sent again, of whichever request.
        retries += self.session.take_resent();
        if let Err(failure) = &answer {
            let kind = failure.kind.name();
            self.recorder.borrow_mut().error_text(kind, || failure.to_string());
        }
        let outcome = answer.as_ref().map(|_| ()).map_err(|failure| failure.kind.name());
        let rows = answer.as_ref().map_or(0, |answer| answer.rows);
        self.recorder
            .borrow_mut()
            .request(statement, sent, Instant::now(), rows, retries, outcome);
        match answer {
            Err(failure) if failure.kind == FailureKind::Validation && self.policy.validation == Validation::Ignore => {
                Ok(Answer::default())
            }
            answer => answer,
        }
    }

    pub(super) fn retries(&self, kind: FailureKind) -> bool {
        match kind {
            FailureKind::Validation => self.policy.validation == Validation::Retry,
            kind => kind.is_retried() || self.policy.on_all_errors,
        }
    }

    async fn execute_any(&self, text: &str, rows: Wanted, expected: Option<&Expected>) -> Result<Answer, Failure> {
        let rows = expected.map_or(rows, Expected::wanted);
        self.request(self.unprepared, expected, || self.session.execute(text, rows))
            .await
            .map_err(|failure| failure.about(text))
    }

    pub(super) async fn execute_statement(
        &self,
        key: &str,
        parameters: &Value,
        rows: Wanted,
        expected: Option<&Expected>,
    ) -> Result<Answer, Failure> {
        let statement = self.statement(key)?;
        let rows = expected.map_or(rows, Expected::wanted);
        let attempt = || self.session.execute_prepared(statement.number, parameters, rows);
        self.request(statement.id, expected, attempt)
            .await
            .map_err(|failure| failure.about(&self.text_of(key)))
    }

    async fn run_batch(&self, kind: BatchKind, keys: &[Ref<str>], parameters: Vec<Value>) -> Result<(), Failure> {
        let misuse = |why: String| Failure::new(FailureKind::Misuse, why);
        let [first, ..] = keys else {
            return Err(misuse("a batch has at least one statement".to_owned()));
        };
        if keys.len() != parameters.len() {
            let (keys, lists) = (keys.len(), parameters.len());
            return Err(misuse(format!(
                "a batch of {keys} statements has {lists} lists of parameters"
            )));
        }
        let id = self.statement(first)?.id;
        let numbers = keys.iter().map(|key| Ok(self.statement(key)?.number));
        let numbers = numbers.collect::<Result<Vec<_>, Failure>>()?;
        let statements: Vec<(usize, Value)> = numbers.into_iter().zip(parameters).collect();
        self.request(id, None, || self.session.batch(kind, &statements))
            .await
            .map(drop)
            .map_err(|failure| failure.about("a batch"))
    }
}

fn list(answer: Answer) -> Result<Value, Failure> {
    Value::vec(answer.values).map_err(Failure::memory)
}

#[rune::function(instance)]
fn prepare(ctx: Ref<Context>, key: Ref<str>, text: Ref<str>) -> impl Future<Output = Result<(), Failure>> {
    let unawaited = Rc::clone(&ctx.unawaited);
    call(unawaited, "prepare", async move {
        ctx.prepare(&key, &text, StatementOptions::default()).await
    })
}

/// `prepare` with what the statement has of its own: `#{consistency: "ONE", serial_consistency: "SERIAL", page_size: 100,
/// timeout: "2s", idempotent: true}`.
#[rune::function(instance)]
fn prepare_with(
    ctx: Ref<Context>,
    key: Ref<str>,
    text: Ref<str>,
    options: Value,
) -> impl Future<Output = Result<(), Failure>> {
    let unawaited = Rc::clone(&ctx.unawaited);
    call(unawaited, "prepare_with", async move {
        let options = statement_options(&options)?;
        ctx.prepare(&key, &text, options).await
    })
}

#[rune::function(instance)]
fn execute(ctx: Ref<Context>, text: Ref<str>) -> impl Future<Output = Result<(), Failure>> {
    let unawaited = Rc::clone(&ctx.unawaited);
    call(unawaited, "execute", async move {
        ctx.execute_any(&text, Wanted::Count, None).await.map(drop)
    })
}

#[rune::function(instance)]
fn execute_with_result(ctx: Ref<Context>, text: Ref<str>) -> impl Future<Output = Result<Value, Failure>> {
    let unawaited = Rc::clone(&ctx.unawaited);
    call(unawaited, "execute_with_result", async move {
        list(ctx.execute_any(&text, Wanted::Rows, None).await?)
    })
}

#[rune::function(instance)]
fn execute_with_validation(
    ctx: Ref<Context>,
    text: Ref<str>,
    expected: Vec<Value>,
) -> impl Future<Output = Result<(), Failure>> {
    let unawaited = Rc::clone(&ctx.unawaited);
    call(unawaited, "execute_with_validation", async move {
        let expected = Expected::of(&expected, &text)?;
        ctx.execute_any(&text, Wanted::Count, Some(&expected)).await.map(drop)
    })
}

#[rune::function(instance)]
fn execute_prepared(ctx: Ref<Context>, key: Ref<str>, parameters: Value) -> impl Future<Output = Result<(), Failure>> {
    let unawaited = Rc::clone(&ctx.unawaited);
    call(unawaited, "execute_prepared", async move {
        ctx.execute_statement(&key, &parameters, Wanted::Count, None)
            .await
            .map(drop)
    })
}

#[rune::function(instance)]
fn execute_prepared_with_result(
    ctx: Ref<Context>,
    key: Ref<str>,
    parameters: Value,
) -> impl Future<Output = Result<Value, Failure>> {
    let unawaited = Rc::clone(&ctx.unawaited);
    call(unawaited, "execute_prepared_with_result", async move {
        list(ctx.execute_statement(&key, &parameters, Wanted::Rows, None).await?)
    })
}

#[rune::function(instance)]
fn execute_prepared_with_validation(
    ctx: Ref<Context>,
    key: Ref<str>,
    parameters: Value,
    expected: Vec<Value>,
) -> impl Future<Output = Result<(), Failure>> {
    let unawaited = Rc::clone(&ctx.unawaited);
    call(unawaited, "execute_prepared_with_validation", async move {
        let expected = Expected::of(&expected, &ctx.text_of(&key))?;
        ctx.execute_statement(&key, &parameters, Wanted::Count, Some(&expected))
            .await
            .map(drop)
    })
}

#[rune::function(instance)]
fn batch_prepared(
    ctx: Ref<Context>,
    keys: Vec<Ref<str>>,
    parameters: Vec<Value>,
) -> impl Future<Output = Result<(), Failure>> {
    let unawaited = Rc::clone(&ctx.unawaited);
    call(unawaited, "batch_prepared", async move {
        ctx.run_batch(BatchKind::Logged, &keys, parameters).await
    })
}

#[rune::function(instance)]
fn batch_prepared_with(
    ctx: Ref<Context>,
    keys: Vec<Ref<str>>,
    parameters: Vec<Value>,
    kind: Ref<str>,
) -> impl Future<Output = Result<(), Failure>> {
    let unawaited = Rc::clone(&ctx.unawaited);
    call(unawaited, "batch_prepared_with", async move {
        let kind = match &*kind {
            "logged" => BatchKind::Logged,
            "unlogged" => BatchKind::Unlogged,
            "counter" => BatchKind::Counter,
            other => {
                let why = format!("a batch is \"logged\", \"unlogged\" or \"counter\", found {other:?}");
                return Err(Failure::new(FailureKind::Misuse, why));
            }
        };
        ctx.run_batch(kind, &keys, parameters).await
    })
}

#[rune::function(instance)]
fn signal_failure(ctx: Ref<Context>, message: Ref<str>) -> impl Future<Output = Result<(), Failure>> {
    let unawaited = Rc::clone(&ctx.unawaited);
    call(unawaited, "signal_failure", async move {
        Err(Failure::new(FailureKind::Signalled, &*message))
    })
}

fn statement_options(options: &Value) -> Result<StatementOptions, Failure> {
    let misuse = |why: String| Failure::new(FailureKind::Misuse, why);
    let Ok(TypeValue::Object(fields)) = options.as_type_value() else {
        return Err(misuse(format!(
            "options of a statement are an object, found {}",
            options.type_info()
        )));
    };
    let mut read = StatementOptions::default();
    for (name, value) in fields.iter() {
        let wrong = |expected: &str| {
            misuse(format!(
                "option {}: {expected} is expected, found {value:?}",
                name.as_str()
            ))
        };
        let text = || {
            value
                .borrow_string_ref()
                .map(|t| t.to_owned())
                .map_err(|_| wrong("a text"))
        };
        match name.as_str() {
            "consistency" => read.consistency = Some(text()?),
            "serial_consistency" => read.serial_consistency = Some(text()?),
            "page_size" => {
                let size = value.as_integer::<i32>().ok().filter(|size| *size > 0);
                read.page_size = Some(size.ok_or_else(|| wrong("a number above 0"))?);
            }
            "timeout" => read.timeout = Some(parse_duration(&text()?).map_err(misuse)?),
            "idempotent" => read.is_idempotent = Some(value.as_bool().map_err(|_| wrong("true or false"))?),
            other => return Err(misuse(format!("a statement has no option {other}"))),
        }
    }
    Ok(read)
}

pub(super) fn install(module: &mut Module) -> Result<(), ContextError> {
    module.function_meta(prepare)?;
    module.function_meta(prepare_with)?;
    module.function_meta(execute)?;
    module.function_meta(execute_with_result)?;
    module.function_meta(execute_with_validation)?;
    module.function_meta(execute_prepared)?;
    module.function_meta(execute_prepared_with_result)?;
    module.function_meta(execute_prepared_with_validation)?;
    module.function_meta(batch_prepared)?;
    module.function_meta(batch_prepared_with)?;
    module.function_meta(signal_failure)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::stats::Recorder;
    use crate::target::AnyTarget;

    /// Rune boxes the future of each request that a machine makes, so no store's largest may be a part of all.
    #[test]
    fn futures_of_requests_are_small() {
        let cli = Cli::try_parse_from(["tidemill-bench", "schema", "none.rn", "mem:"]).unwrap();
        let Command::Schema(args) = cli.command else {
            panic!("{cli:?}")
        };
        let target = AnyTarget::open(&args.connection).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let session = Rc::new(runtime.block_on(target.connect()).unwrap());
        let recorder = Rc::new(RefCell::new(Recorder::new(&[], Instant::now())));
        let context = Context::new(session, recorder, args.connection.policy()).unwrap();
        let parameters = Value::from(());
        let prepared = context.execute_statement("key", &parameters, Wanted::Count, None);
        let text = context.execute_any("SELECT 1", Wanted::Count, None);
        let batch = context.run_batch(BatchKind::Logged, &[], Vec::new());
        let sizes = [size_of_val(&prepared), size_of_val(&text), size_of_val(&batch)];
        assert!(sizes.iter().all(|size| *size <= 1024), "{sizes:?}");
    }
}
