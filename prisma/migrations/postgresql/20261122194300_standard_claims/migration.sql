-- AlterTable
ALTER TABLE "users" ADD COLUMN     "address" TEXT,
ADD COLUMN     "birthdate" TEXT,
ADD COLUMN     "gender" TEXT,
ADD COLUMN     "middle_name" TEXT,
ADD COLUMN     "nickname" TEXT,
ADD COLUMN     "phone_number_verified" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "profile" TEXT,
ADD COLUMN     "website" TEXT;
