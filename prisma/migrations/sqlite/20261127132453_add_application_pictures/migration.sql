-- CreateTable
CREATE TABLE "application_pictures" (
    "application_id" TEXT NOT NULL PRIMARY KEY,
    "url" TEXT,
    "name" TEXT,
    "content" BLOB,
    "mac" TEXT NOT NULL DEFAULT '',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_try_at" DATETIME,
    "last_error" TEXT,
    "updated_at" DATETIME NOT NULL,
    CONSTRAINT "application_pictures_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "application_pictures_next_try_at_idx" ON "application_pictures"("next_try_at");

-- CreateIndex
CREATE INDEX "application_pictures_name_idx" ON "application_pictures"("name");

-- As 20261123085859_directory_triggers.
CREATE TRIGGER "directory_changed_application_pictures_insert" AFTER INSERT ON "application_pictures" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_pictures_update" AFTER UPDATE ON "application_pictures" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_pictures_delete" AFTER DELETE ON "application_pictures" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
