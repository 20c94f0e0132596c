//! Plans scans without `async`.
//!
//! The future of an `async fn` would contain the conditions, and for each the compiler would walk through DataFusion's expression types for
//! five seconds to prove that it is `Send`.

/// Implements `TableProvider::scan` by a method `plan` with the same arguments that does not wait.
macro_rules! planned_scan {
    () => {
        fn scan<'provider, 'state, 'projection, 'filters, 'scan>(
            &'provider self,
            state: &'state dyn datafusion::catalog::Session,
            projection: Option<&'projection Vec<usize>>,
            filters: &'filters [datafusion::logical_expr::Expr],
            limit: Option<usize>,
        ) -> futures::future::BoxFuture<
            'scan,
            datafusion::common::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
        >
        where
            'provider: 'scan,
            'state: 'scan,
            'projection: 'scan,
            'filters: 'scan,
            Self: 'scan,
        {
            Box::pin(std::future::ready(self.plan(state, projection, filters, limit)))
        }
    };
}

pub(crate) use planned_scan;
