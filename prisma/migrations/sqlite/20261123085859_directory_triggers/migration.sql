-- Each change of the directory stores another number, so that every process on this file sees whether what it has cached is current. The number
-- is random, because a count could repeat itself in a restored file. A migration that redefines one of these tables drops its triggers and has to
-- create them again (test/storage/directory-cache.test.ts).
CREATE TRIGGER "directory_changed_users_insert" AFTER INSERT ON "users" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_users_update" AFTER UPDATE ON "users" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_users_delete" AFTER DELETE ON "users" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_roles_insert" AFTER INSERT ON "roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_roles_update" AFTER UPDATE ON "roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_roles_delete" AFTER DELETE ON "roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_permissions_insert" AFTER INSERT ON "permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_permissions_update" AFTER UPDATE ON "permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_permissions_delete" AFTER DELETE ON "permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_user_roles_insert" AFTER INSERT ON "user_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_user_roles_update" AFTER UPDATE ON "user_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_user_roles_delete" AFTER DELETE ON "user_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_role_permissions_insert" AFTER INSERT ON "role_permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_role_permissions_update" AFTER UPDATE ON "role_permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_role_permissions_delete" AFTER DELETE ON "role_permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_applications_insert" AFTER INSERT ON "applications" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_applications_update" AFTER UPDATE ON "applications" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_applications_delete" AFTER DELETE ON "applications" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_roles_insert" AFTER INSERT ON "application_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_roles_update" AFTER UPDATE ON "application_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_roles_delete" AFTER DELETE ON "application_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_client_secrets_insert" AFTER INSERT ON "client_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_client_secrets_update" AFTER UPDATE ON "client_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_client_secrets_delete" AFTER DELETE ON "client_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connections_insert" AFTER INSERT ON "connections" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connections_update" AFTER UPDATE ON "connections" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connections_delete" AFTER DELETE ON "connections" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_secrets_insert" AFTER INSERT ON "connection_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_secrets_update" AFTER UPDATE ON "connection_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_secrets_delete" AFTER DELETE ON "connection_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_documents_insert" AFTER INSERT ON "connection_documents" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_documents_update" AFTER UPDATE ON "connection_documents" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_documents_delete" AFTER DELETE ON "connection_documents" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_domains_insert" AFTER INSERT ON "connection_domains" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_domains_update" AFTER UPDATE ON "connection_domains" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_domains_delete" AFTER DELETE ON "connection_domains" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_role_mappings_insert" AFTER INSERT ON "connection_role_mappings" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_role_mappings_update" AFTER UPDATE ON "connection_role_mappings" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_role_mappings_delete" AFTER DELETE ON "connection_role_mappings" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
