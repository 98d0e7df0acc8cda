-- AlterTable
ALTER TABLE "connection_secrets" ADD COLUMN     "refused_at" TIMESTAMP(3),
ADD COLUMN     "refused_reason" TEXT,
ADD COLUMN     "refused_text" TEXT;

-- AlterTable
ALTER TABLE "external_identities" ADD COLUMN     "checked_at" TIMESTAMP(3),
ADD COLUMN     "gone_since" TIMESTAMP(3);
