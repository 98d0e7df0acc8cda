-- CreateTable
CREATE TABLE "client_secret_uses" (
    "secret_id" TEXT NOT NULL PRIMARY KEY,
    "last_used_at" DATETIME NOT NULL,
    CONSTRAINT "client_secret_uses_secret_id_fkey" FOREIGN KEY ("secret_id") REFERENCES "client_secrets" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- AlterTable
ALTER TABLE "client_secrets" ADD COLUMN "last_four" TEXT NOT NULL DEFAULT '';
