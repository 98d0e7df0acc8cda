-- DropIndex
DROP INDEX "applications_protocol_name_id_idx";

-- DropIndex
DROP INDEX "applications_name_id_idx";

-- Compared by code point, as on SQLite. The start of the server completes the keys.
ALTER TABLE "applications" ADD COLUMN "name_key" TEXT COLLATE "C" NOT NULL DEFAULT '';

-- All migrations share a transaction, and an index cannot be made while deferred triggers wait for its end.
SET CONSTRAINTS ALL IMMEDIATE;

UPDATE "applications" SET "name_key" = lower("name");

-- CreateIndex
CREATE INDEX "applications_protocol_name_key_id_idx" ON "applications"("protocol", "name_key", "id");

-- CreateIndex
CREATE INDEX "applications_name_key_id_idx" ON "applications"("name_key", "id");

SET CONSTRAINTS ALL DEFERRED;
