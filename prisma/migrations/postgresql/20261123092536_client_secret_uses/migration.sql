-- AlterTable
ALTER TABLE "client_secrets" ADD COLUMN     "last_four" TEXT NOT NULL DEFAULT '';

-- CreateTable
CREATE TABLE "client_secret_uses" (
    "secret_id" TEXT NOT NULL,
    "last_used_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "client_secret_uses_pkey" PRIMARY KEY ("secret_id")
);

-- AddForeignKey
ALTER TABLE "client_secret_uses" ADD CONSTRAINT "client_secret_uses_secret_id_fkey" FOREIGN KEY ("secret_id") REFERENCES "client_secrets"("id") ON DELETE CASCADE ON UPDATE CASCADE;
