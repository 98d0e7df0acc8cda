-- AlterTable
ALTER TABLE "mail_messages" ADD COLUMN     "kind" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "user_id" TEXT;

-- CreateIndex
CREATE INDEX "mail_messages_user_id_created_at_idx" ON "mail_messages"("user_id", "created_at");
