-- AlterTable
ALTER TABLE "users" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "known_browsers" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "applications" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "application_roles" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "client_secrets" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "resources" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "oidc_artifacts" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "consents" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "sign_in_attempts" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "rp_sessions" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "saml_requests" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "saml_name_ids" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "settings" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';
