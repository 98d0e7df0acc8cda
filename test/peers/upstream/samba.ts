// A domain of Active Directory (Samba) behind the ordinary password form.
import { person, STAFF, type Upstream } from '../peer.ts';
import { root, service, startSamba } from '../samba-server.ts';

export async function startActiveDirectory(): Promise<Upstream> {
  const { username, password, email: mail } = person;
  const samba = await startSamba();
  await samba.tool('user', 'create', username, password, `--mail-address=${mail}`);
  await samba.tool('group', 'add', STAFF);
  await samba.tool('group', 'addmembers', STAFF, username);
  return {
    name: 'Samba (Active Directory)',
    version: samba.version,
    kind: 'ldap',
    connection: {
      kind: 'ldap',
      preset: 'active-directory',
      name: 'Directory',
      url: samba.ldaps,
      ca: [samba.ca],
      base_dn: root,
      bind_dn: service.dn,
      bind_password: service.password,
      trusted_email: 'verified',
      groups: { nested: true },
      role_mappings: { [STAFF]: STAFF },
    },
    stop: samba.stop,
  };
}
