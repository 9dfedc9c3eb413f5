-- Tasks that nobody has to work on, calls that are made once, and lists and counts over all owners.
ALTER TABLE tasks ADD COLUMN parked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN same_call TEXT;

DROP INDEX tasks_by_lease;
CREATE INDEX tasks_by_lease ON tasks (lease_until, created_at, id) WHERE live = 1 AND parked = 0;
CREATE UNIQUE INDEX tasks_by_call ON tasks (same_call) WHERE same_call IS NOT NULL;
CREATE INDEX tasks_live ON tasks (tenant, principal) WHERE live = 1;
CREATE INDEX tasks_by_age ON tasks (created_at, id);
