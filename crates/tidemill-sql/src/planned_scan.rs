//! Scans that are planned without waiting.
//!
//! As an `async fn` each would carry the conditions into its future, and the compiler would walk through DataFusion's expressions for
//! five seconds to see that it may go to another thread.

/// `TableProvider::scan` by a method `plan` of the same arguments that waits for nothing.
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
