-- The name by which lists are sorted, and its last word: of the third line of the search key, else the username.
ALTER TABLE "users" ADD COLUMN "name_key" TEXT NOT NULL DEFAULT '';
ALTER TABLE "users" ADD COLUMN "last_name_key" TEXT NOT NULL DEFAULT '';

UPDATE "users" SET "name_key" = substr("search_key", instr("search_key", char(10)) + 1);
UPDATE "users" SET "name_key" = substr("name_key", instr("name_key", char(10)) + 1);
UPDATE "users" SET "name_key" = "username_key" WHERE "name_key" = '';
-- What is left of the name without the letters at its end is the part before the last word.
UPDATE "users" SET "last_name_key" = substr("name_key", length(rtrim("name_key", replace("name_key", ' ', ''))) + 1);

-- CreateIndex
CREATE INDEX "users_is_active_created_at_id_idx" ON "users"("is_active", "created_at", "id");

-- CreateIndex
CREATE INDEX "users_name_key_id_idx" ON "users"("name_key", "id");

-- CreateIndex
CREATE INDEX "users_last_name_key_id_idx" ON "users"("last_name_key", "id");
