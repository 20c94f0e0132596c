//! Where the statements of a range of tokens are sent.

use std::sync::Arc;

use scylla::cluster::{ClusterState, NodeRef};
use scylla::policies::load_balancing::{FallbackPlan, LoadBalancingPolicy, RoutingInfo};
use scylla::routing::{Shard, Token};

/// A replica of the token first, then the nodes of another policy. The driver itself knows tokens of statements only whose values are
/// partition keys.
#[derive(Debug)]
pub(crate) struct TowardsToken {
    pub(crate) token: Token,
    /// Replicas elsewhere are left to the other policy.
    pub(crate) datacenter: Option<String>,
    pub(crate) others: Arc<dyn LoadBalancingPolicy>,
}

impl LoadBalancingPolicy for TowardsToken {
    fn pick<'a>(
        &'a self,
        request: &'a RoutingInfo<'_>,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        let replica = request.table.and_then(|table| {
            let strategy = &cluster.get_keyspace(table.ks_name())?.strategy;
            let datacenter = self.datacenter.as_deref();
            let replicas = cluster.replica_locator();
            let replicas = replicas.replicas_for_token(self.token, strategy, datacenter, table);
            replicas.into_iter().find(|(node, _)| node.is_connected())
        });
        match replica {
            Some((node, shard)) => Some((node, Some(shard))),
            None => self.others.pick(request, cluster),
        }
    }

    fn fallback<'a>(&'a self, request: &'a RoutingInfo<'_>, cluster: &'a ClusterState) -> FallbackPlan<'a> {
        self.others.fallback(request, cluster)
    }

    fn name(&self) -> String {
        "TowardsToken".to_owned()
    }
}
