//! The PostgreSQL store under TLS, against a server that speaks it.

use std::net::TcpListener;

use mcp_tasks::store::Parts;
use mcp_tasks::{PostgresStore, Store, StoreErrorKind};

use crate::postgres::{client, skipped};
use crate::postgres_cluster::Cluster;
use crate::support::record;

/// S-35: whoever is not who the certificate says is not spoken to.
#[tokio::test]
async fn store_speaks_tls_and_only_to_whom_it_trusts() {
    let Some(cluster) = Cluster::start().unwrap() else { return skipped("PostgreSQL is not installed") };
    // Given back right away; nobody else takes it so soon.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let Some(authority) = cluster.resume_with_tls(port).unwrap() else {
        return skipped("OpenSSL's program is not installed");
    };
    let url =
        |host: &str| format!("postgresql://tasks@{host}:{port}/postgres?sslmode=require&hostaddr=127.0.0.1");
    let open = |url: String| PostgresStore::builder(&url).root_certificates(authority.clone()).open();

    let store = open(url("localhost")).await.unwrap();
    let (one, other) = tokio::join!(store.insert(record("tsk_1")), store.insert(record("tsk_2")));
    one.unwrap();
    other.unwrap();
    assert!(store.load(&"tsk_1".into(), Parts::Whole).await.unwrap().is_some());
    let admin = client(&format!("{}&port={port}", cluster.url())).await;
    let count = "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl) FROM pg_stat_ssl \
        JOIN pg_stat_activity USING (pid) WHERE application_name = 'mcp-tasks'";
    let counted = admin.query_one(count, &[]).await.unwrap();
    assert!(counted.get::<_, i64>(0) >= 2 && counted.get::<_, i64>(1) == 0, "{counted:?}");
    store.close().await;

    let strange = PostgresStore::open(&url("localhost")).await.unwrap_err();
    let misnamed = open(url("elsewhere.example")).await.unwrap_err();
    for (err, why) in [(strange, "UnknownIssuer"), (misnamed, "not valid for name")] {
        assert_eq!(err.kind(), StoreErrorKind::Unavailable);
        // `Debug` says all that caused it.
        assert!(format!("{err:?}").contains(why), "{err:?}");
    }
}
