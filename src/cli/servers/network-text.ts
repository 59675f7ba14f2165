// How connections leave this machine, for `doctor`: through which proxy, and which authorities of certificates are trusted.

import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import { problem } from '../../errors/error.ts';
import type { Config } from '../../host/config.ts';
import type { Proxies } from '../../host/proxies.ts';

/** Throws E602 for a proxy that cannot be used, and for a file of certificates that cannot be read. */
export const networkText = ({ proxies, environment }: Config): string =>
  `${proxiesText(proxies)}; certificates: ${certificatesText(environment)}`;

function proxiesText({ http, https, except }: Proxies): string {
  if (http === undefined && https === undefined) return 'directly';
  const [one, other] = [wayOf('https', https), wayOf('http', http)];
  return `${one}, ${other}, except this machine${except === undefined ? '' : ` and ${except.text} (${except.from})`}`;
}

function wayOf(scheme: string, proxy: Proxies['http']): string {
  if (proxy === undefined) return `${scheme} directly`;
  if ('wrong' in proxy)
    throw problem('E602', {
      what: `${proxy.from} ${proxy.wrong}`,
      hint: `write it as ${proxy.from}=http://proxy.example:3128, or unset it`,
    });
  const login = proxy.login === undefined ? '' : ` as ${proxy.login.user}`;
  return `${scheme} through ${proxy.url}${login} (${proxy.from})`;
}

/** Names that are shown of a file with many. */
const SHOWN = 3;

function certificatesText(environment: Config['environment']): string {
  const { NODE_EXTRA_CA_CERTS: file, NODE_USE_SYSTEM_CA: system, NODE_OPTIONS: options = '' } = environment;
  const own = ["Node's"];
  if (system === '1' || options.includes('--use-system-ca')) own.push("the system's");
  if (!file) return own.join(' and ');
  const names = getCACertificates('extra').map(nameIn);
  // Node only writes a warning.
  if (names.length === 0)
    throw problem('E602', {
      what: `NODE_EXTRA_CA_CERTS is ${file}, which has no certificate that can be read`,
      hint: 'name a file of certificates in PEM, or unset it',
    });
  const shown = [...names.slice(0, SHOWN), ...(names.length > SHOWN ? ['…'] : [])].join(', ');
  const count = `${names.length} certificate${names.length === 1 ? '' : 's'}`;
  return `${own.join(', ')} and NODE_EXTRA_CA_CERTS=${file} (${count}: ${shown})`;
}

function nameIn(pem: string): string {
  const { subject } = new X509Certificate(pem);
  return /^(?:CN|O)=(.*)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ', ');
}
