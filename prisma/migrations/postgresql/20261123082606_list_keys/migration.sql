-- The name by which lists are sorted, and its last word: of the third line of the search key, else the username. These columns are
-- compared by code point, as on SQLite: an index then finds what begins with a text.
ALTER TABLE "users" ADD COLUMN "name_key" TEXT COLLATE "C" NOT NULL DEFAULT '',
ADD COLUMN "last_name_key" TEXT COLLATE "C" NOT NULL DEFAULT '',
ALTER COLUMN "username_key" TYPE TEXT COLLATE "C",
ALTER COLUMN "email_key" TYPE TEXT COLLATE "C";

-- All migrations share a transaction, and an index cannot be made while deferred triggers wait for its end.
SET CONSTRAINTS ALL IMMEDIATE;

UPDATE "users" SET
  "name_key" = COALESCE(NULLIF(split_part("search_key", E'\n', 3), ''), "username_key"),
  "last_name_key" = COALESCE(substring(split_part("search_key", E'\n', 3) FROM '[^ ]+$'), "username_key");

-- CreateIndex
CREATE INDEX "users_is_active_created_at_id_idx" ON "users"("is_active", "created_at", "id");

-- CreateIndex
CREATE INDEX "users_name_key_id_idx" ON "users"("name_key", "id");

-- CreateIndex
CREATE INDEX "users_last_name_key_id_idx" ON "users"("last_name_key", "id");

SET CONSTRAINTS ALL DEFERRED;
