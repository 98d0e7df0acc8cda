// OpenLDAP as the directory behind the ordinary password form.
import { person, STAFF, type Upstream } from '../peer.ts';
import { base, groupEntry, startSlapd, userEntry } from '../slapd-server.ts';

export async function startDirectory(): Promise<Upstream> {
  const { username, password, email: mail } = person;
  const entries = userEntry(username, { password, mail }) + groupEntry(STAFF, `uid=${username},ou=people,${base}`);
  const { version, ldaps, ca, stop } = await startSlapd(entries);
  return {
    name: 'OpenLDAP (slapd)',
    version,
    kind: 'ldap',
    connection: {
      kind: 'ldap',
      name: 'Directory',
      url: ldaps,
      ca: [ca],
      base_dn: base,
      groups: {},
      bind_dn: `cn=search,${base}`,
      bind_password: 'search',
      trusted_email: 'verified',
      role_mappings: { [`cn=${STAFF},ou=groups,${base}`]: STAFF },
    },
    stop,
  };
}
