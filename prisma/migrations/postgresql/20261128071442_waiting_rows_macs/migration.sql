-- AlterTable
ALTER TABLE "first_factor_approvals" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "saml_metadata" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';
