-- CreateTable
CREATE TABLE "saml_metadata" (
    "application_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "next_read_at" TIMESTAMP(3) NOT NULL,
    "pending_xml" TEXT,
    "pending_key" TEXT,
    "pending_since" TIMESTAMP(3),
    "rejected_key" TEXT,

    CONSTRAINT "saml_metadata_pkey" PRIMARY KEY ("application_id")
);

-- AddForeignKey
ALTER TABLE "saml_metadata" ADD CONSTRAINT "saml_metadata_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;
