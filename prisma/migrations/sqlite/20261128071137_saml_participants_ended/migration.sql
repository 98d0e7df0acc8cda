-- AlterTable
ALTER TABLE "saml_participants" ADD COLUMN "ended_at" DATETIME;
