-- CreateTable
CREATE TABLE "phone_factors" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "number" TEXT NOT NULL,
    "confirmed_at" DATETIME NOT NULL,
    CONSTRAINT "phone_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- AlterTable: SQLite adds a column with a default in place; Prisma would copy the table.
ALTER TABLE "passkeys" ADD COLUMN "user_verified" BOOLEAN NOT NULL DEFAULT false;
