-- CreateTable
CREATE TABLE "data_keys" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "purpose" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "key_sealed" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "audit_checkpoints" (
    "kind" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "at" DATETIME NOT NULL,
    "key_id" TEXT NOT NULL,
    "signature" TEXT NOT NULL,

    PRIMARY KEY ("kind", "seq")
);

-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_audit_events" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "type" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "reason" TEXT,
    "actor_id" TEXT,
    "actor_app" TEXT,
    "subject_id" TEXT,
    "client_id" TEXT,
    "address" TEXT,
    "user_agent" TEXT,
    "request_id" TEXT,
    "data" TEXT NOT NULL DEFAULT '{}',
    "salt" TEXT,
    "digest" TEXT NOT NULL DEFAULT '',
    "row_mac" TEXT NOT NULL DEFAULT '',
    "chain_seq" INTEGER,
    "chain_hash" TEXT
);
INSERT INTO "new_audit_events" ("actor_app", "actor_id", "address", "at", "chain_hash", "chain_seq", "client_id", "data", "id", "outcome", "reason", "request_id", "subject_id", "type", "user_agent") SELECT "actor_app", "actor_id", "address", "at", "chain_hash", "chain_seq", "client_id", "data", "id", "outcome", "reason", "request_id", "subject_id", "type", "user_agent" FROM "audit_events";
DROP TABLE "audit_events";
ALTER TABLE "new_audit_events" RENAME TO "audit_events";
CREATE UNIQUE INDEX "audit_events_chain_seq_key" ON "audit_events"("chain_seq");
CREATE INDEX "audit_events_at_idx" ON "audit_events"("at");
CREATE INDEX "audit_events_actor_id_id_idx" ON "audit_events"("actor_id", "id");
CREATE INDEX "audit_events_subject_id_id_idx" ON "audit_events"("subject_id", "id");
CREATE INDEX "audit_events_client_id_id_idx" ON "audit_events"("client_id", "id");
CREATE INDEX "audit_events_request_id_idx" ON "audit_events"("request_id");
CREATE INDEX "audit_events_type_id_idx" ON "audit_events"("type", "id");
CREATE INDEX "audit_events_type_at_outcome_client_id_idx" ON "audit_events"("type", "at", "outcome", "client_id");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;

-- CreateIndex
CREATE UNIQUE INDEX "data_keys_purpose_generation_key" ON "data_keys"("purpose", "generation");
