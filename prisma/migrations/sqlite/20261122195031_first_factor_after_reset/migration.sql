-- AlterTable
ALTER TABLE "first_factor_approvals" ADD COLUMN "reset_by_mail_at" DATETIME;
