-- AlterTable
ALTER TABLE "totp_credentials" ADD COLUMN     "algorithm" TEXT NOT NULL DEFAULT 'sha1',
ADD COLUMN     "digits" INTEGER NOT NULL DEFAULT 6,
ADD COLUMN     "period" INTEGER NOT NULL DEFAULT 30;
