-- CreateTable
CREATE TABLE "saml_metadata" (
    "application_id" TEXT NOT NULL PRIMARY KEY,
    "url" TEXT NOT NULL,
    "next_read_at" DATETIME NOT NULL,
    "pending_xml" TEXT,
    "pending_key" TEXT,
    "pending_since" DATETIME,
    "rejected_key" TEXT,
    CONSTRAINT "saml_metadata_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
