-- CreateTable
CREATE TABLE "directory_revisions" (
    "shard" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "revision" BIGINT NOT NULL
);
