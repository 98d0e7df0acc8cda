-- AlterTable
ALTER TABLE "resources" ADD COLUMN     "scope_permissions" TEXT NOT NULL DEFAULT '{}';

-- CreateTable
CREATE TABLE "application_users" (
    "application_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "first_used_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "application_users_pkey" PRIMARY KEY ("application_id","user_id")
);

-- CreateIndex
CREATE INDEX "application_users_user_id_idx" ON "application_users"("user_id");

-- AddForeignKey
ALTER TABLE "application_users" ADD CONSTRAINT "application_users_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "application_users" ADD CONSTRAINT "application_users_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
