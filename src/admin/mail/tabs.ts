// The tabs of Email.
import { t } from '../../base/texts/text.ts';
import type { ConsolePage } from '../console/blocks.ts';

export function mailTabs(current: 'queue' | 'templates'): NonNullable<ConsolePage['tabs']> {
  return [
    { href: '/admin/mail', label: t('console.mail.delivery'), isCurrent: current === 'queue' },
    { href: '/admin/mail/templates', label: t('console.mail.templates'), isCurrent: current === 'templates' },
  ];
}
