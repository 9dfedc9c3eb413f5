-- One row a task. The record is JSON without what has a column or table of its own.
CREATE TABLE {s}.tasks (
    -- In the order of its bytes, as everywhere else, whatever the language of the database.
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    principal text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    -- When something has to happen by itself; NULL is never.
    due_at bigint,
    live boolean NOT NULL,
    -- Nobody has to work on it.
    parked boolean NOT NULL,
    -- Of the record: processes of an older version leave a newer one alone.
    format integer NOT NULL,
    version bigint NOT NULL,
    fence bigint NOT NULL,
    attempt bigint NOT NULL,
    lease_worker text COLLATE "C",
    -- The smallest integer where there is no lease.
    lease_until bigint NOT NULL,
    same_call text COLLATE "C",
    record text NOT NULL,
    -- Large values stand apart by themselves, so that a change of status does not rewrite them.
    params text
);

CREATE INDEX tasks_by_due ON {s}.tasks (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX tasks_by_lease ON {s}.tasks (lease_until, created_at, id) WHERE live AND NOT parked;
CREATE INDEX tasks_by_owner ON {s}.tasks (tenant, principal, created_at, id);
CREATE INDEX tasks_by_age ON {s}.tasks (created_at, id);
CREATE INDEX tasks_live ON {s}.tasks (tenant, principal) WHERE live;
CREATE UNIQUE INDEX tasks_by_call ON {s}.tasks (same_call) WHERE same_call IS NOT NULL;

-- In the order of their numbers.
CREATE TABLE {s}.steps (
    task text COLLATE "C" NOT NULL REFERENCES {s}.tasks (id) ON DELETE CASCADE,
    number bigint GENERATED ALWAYS AS IDENTITY,
    name text COLLATE "C" NOT NULL,
    fingerprint text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (task, name)
);
