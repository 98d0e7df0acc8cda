-- DropIndex
DROP INDEX "applications_protocol_name_idx";

-- DropIndex
DROP INDEX "audit_events_subject_id_at_idx";

-- DropIndex
DROP INDEX "audit_events_client_id_at_idx";

-- AlterTable
ALTER TABLE "audit_events" ADD COLUMN "actor_app" TEXT;
ALTER TABLE "audit_events" ADD COLUMN "chain_hash" TEXT;
ALTER TABLE "audit_events" ADD COLUMN "chain_seq" INTEGER;

-- CreateTable
CREATE TABLE "audit_chain" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "mac" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "request_hash" TEXT NOT NULL,
    "response_sealed" TEXT,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
);

-- By hand: a redefined table would be dropped inside our transaction, and its children with it.
DROP INDEX "users_created_at_id_idx";
ALTER TABLE "users" ADD COLUMN "search_key" TEXT NOT NULL DEFAULT '';
UPDATE "users" SET "search_key" = "username_key" || char(10) || coalesce("email_key", '') || char(10) || lower(coalesce("name", ''));
CREATE INDEX "users_created_at_id_is_active_source_search_key_idx" ON "users"("created_at", "id", "is_active", "source", "search_key");

-- CreateIndex
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");

-- CreateIndex
CREATE INDEX "applications_protocol_name_id_idx" ON "applications"("protocol", "name", "id");

-- CreateIndex
CREATE INDEX "applications_name_id_idx" ON "applications"("name", "id");

-- CreateIndex
CREATE INDEX "session_devices_created_at_uid_idx" ON "session_devices"("created_at", "uid");

-- CreateIndex
CREATE UNIQUE INDEX "audit_events_chain_seq_key" ON "audit_events"("chain_seq");

-- CreateIndex
CREATE INDEX "audit_events_actor_id_id_idx" ON "audit_events"("actor_id", "id");

-- CreateIndex
CREATE INDEX "audit_events_subject_id_id_idx" ON "audit_events"("subject_id", "id");

-- CreateIndex
CREATE INDEX "audit_events_client_id_id_idx" ON "audit_events"("client_id", "id");
