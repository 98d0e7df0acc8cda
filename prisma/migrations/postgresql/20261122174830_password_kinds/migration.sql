-- AlterTable
ALTER TABLE "password_credentials" ADD COLUMN     "kind" TEXT NOT NULL DEFAULT '';

-- CreateIndex
CREATE INDEX "password_credentials_kind_idx" ON "password_credentials"("kind");
