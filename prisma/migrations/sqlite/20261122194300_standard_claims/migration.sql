-- AlterTable
ALTER TABLE "users" ADD COLUMN "middle_name" TEXT;
ALTER TABLE "users" ADD COLUMN "nickname" TEXT;
ALTER TABLE "users" ADD COLUMN "profile" TEXT;
ALTER TABLE "users" ADD COLUMN "website" TEXT;
ALTER TABLE "users" ADD COLUMN "gender" TEXT;
ALTER TABLE "users" ADD COLUMN "birthdate" TEXT;
ALTER TABLE "users" ADD COLUMN "phone_number_verified" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "users" ADD COLUMN "address" TEXT;
