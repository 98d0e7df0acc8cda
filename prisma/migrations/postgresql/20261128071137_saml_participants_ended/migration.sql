-- AlterTable
ALTER TABLE "saml_participants" ADD COLUMN     "ended_at" TIMESTAMP(3);
