-- AlterTable
ALTER TABLE "passkeys" ADD COLUMN     "user_verified" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "phone_factors" (
    "user_id" TEXT NOT NULL,
    "number" TEXT NOT NULL,
    "confirmed_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "phone_factors_pkey" PRIMARY KEY ("user_id")
);

-- AddForeignKey
ALTER TABLE "phone_factors" ADD CONSTRAINT "phone_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
