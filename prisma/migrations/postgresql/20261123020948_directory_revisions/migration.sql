-- CreateTable
CREATE TABLE "directory_revisions" (
    "shard" INTEGER NOT NULL,
    "revision" BIGINT NOT NULL,

    CONSTRAINT "directory_revisions_pkey" PRIMARY KEY ("shard")
);

-- Runs when a transaction commits, once, so that it holds the row of its shard for the time of the commit only. The number is random,
-- because a count could repeat itself after a failover to a server that lacks the last transactions.
CREATE FUNCTION "directory_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('gatehouse.directory_change', true) IS DISTINCT FROM txid_current()::text THEN
    PERFORM set_config('gatehouse.directory_change', txid_current()::text, true);
    EXECUTE format('INSERT INTO %I.directory_revisions (shard, revision) VALUES ($1, $2)
      ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision', TG_TABLE_SCHEMA)
      USING pg_backend_pid() % 16, (random() * 4e18)::bigint;
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "users" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "roles" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "permissions" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "user_roles" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "role_permissions" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "applications" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "application_roles" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "client_secrets" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "connections" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "connection_secrets" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "connection_documents" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "connection_domains" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "connection_role_mappings" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
