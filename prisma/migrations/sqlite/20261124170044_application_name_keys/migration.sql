-- By hand: a redefined table would lose its triggers. lower() changes ASCII letters only; the start of the server completes the other keys.
DROP INDEX "applications_protocol_name_id_idx";
DROP INDEX "applications_name_id_idx";

ALTER TABLE "applications" ADD COLUMN "name_key" TEXT NOT NULL DEFAULT '';
UPDATE "applications" SET "name_key" = lower("name");

-- CreateIndex
CREATE INDEX "applications_protocol_name_key_id_idx" ON "applications"("protocol", "name_key", "id");

-- CreateIndex
CREATE INDEX "applications_name_key_id_idx" ON "applications"("name_key", "id");
