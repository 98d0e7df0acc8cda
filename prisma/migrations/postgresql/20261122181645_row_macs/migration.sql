-- AlterTable
ALTER TABLE "roles" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "user_roles" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "password_credentials" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "passkeys" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "phone_factors" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "password_reset_tokens" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "mail_tokens" ADD COLUMN     "mac" TEXT NOT NULL DEFAULT '';
