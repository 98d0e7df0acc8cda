-- CreateTable
CREATE TABLE "first_factor_approvals" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "requested_at" DATETIME,
    "allowed_until" DATETIME,
    CONSTRAINT "first_factor_approvals_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
