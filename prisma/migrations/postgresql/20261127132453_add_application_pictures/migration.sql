-- CreateTable
CREATE TABLE "application_pictures" (
    "application_id" TEXT NOT NULL,
    "url" TEXT,
    "name" TEXT,
    "content" BYTEA,
    "mac" TEXT NOT NULL DEFAULT '',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_try_at" TIMESTAMP(3),
    "last_error" TEXT,
    "updated_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "application_pictures_pkey" PRIMARY KEY ("application_id")
);

-- CreateIndex
CREATE INDEX "application_pictures_next_try_at_idx" ON "application_pictures"("next_try_at");

-- CreateIndex
CREATE INDEX "application_pictures_name_idx" ON "application_pictures"("name");

-- AddForeignKey
ALTER TABLE "application_pictures" ADD CONSTRAINT "application_pictures_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE CONSTRAINT TRIGGER "directory_changed" AFTER INSERT OR UPDATE OR DELETE ON "application_pictures" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "directory_changed"();
