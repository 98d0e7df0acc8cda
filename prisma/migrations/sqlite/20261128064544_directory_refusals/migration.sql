-- AlterTable
ALTER TABLE "connection_secrets" ADD COLUMN "refused_at" DATETIME;
ALTER TABLE "connection_secrets" ADD COLUMN "refused_reason" TEXT;
ALTER TABLE "connection_secrets" ADD COLUMN "refused_text" TEXT;

-- AlterTable
ALTER TABLE "external_identities" ADD COLUMN "checked_at" DATETIME;
ALTER TABLE "external_identities" ADD COLUMN "gone_since" DATETIME;
