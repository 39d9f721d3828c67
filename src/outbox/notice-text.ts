import { escapeForDisplay } from '../domain/text/escape-text.js';

/** The parts of a CloudEvent of ours that a notice is made of. */
export interface NoticedEvent {
  readonly type: string;
  readonly subject: string;
  /** Absolute; absent where the installation has no public address. */
  readonly link?: string;
  readonly data: { readonly payload: Readonly<Record<string, unknown>> };
}

const TEXT_CHARACTERS_MAX = 200;

/**
 * What people in a chat read: that somebody is waited for, for what, until when, and where to look. Never an argument,
 * because a chat has other readers than an approval; never an agent's words, because they could pass for ours; and never
 * anything that acts, because previews and scanners follow every link.
 *
 * The form is that of Slack's `mrkdwn`, which others understand too. What comes from outside cannot become markup.
 */
export function noticeText(event: NoticedEvent): string {
  const { payload } = event.data;
  const words = sentence(event.type, payload);
  const place = event.link === undefined ? plain(event.subject) : `<${entities(event.link)}|Open>`;
  return `${words} ${place}`;
}

function sentence(type: string, payload: Readonly<Record<string, unknown>>): string {
  switch (type) {
    case 'approval.required':
      return `Approval needed: *${called(payload)}*, risk ${plain(payload['risk'])}, asked for ${people(payload['requesterSubjects'])}. Decide before ${plain(payload['decideBy'])}.`;
    case 'approval.granted':
      return `Approved by ${people(payload['decidedBy'])}. It runs once, before ${plain(payload['executeBy'])}, if policy still allows it.`;
    case 'approval.denied':
      return `Denied by ${people(payload['decidedBy'])}.`;
    case 'approval.expired':
      return `Expired: nobody decided, or it was not carried out, before ${plain(payload['deadline'])}.`;
    case 'manual.handoff_opened':
      return 'It is not known whether a call had its effect, and nothing more can be learnt without people.';
    case 'tool.call.result_unknown':
      return 'It is not known whether a call had its effect. It is being looked into and is not sent again.';
    default:
      return `${plain(type)}.`;
  }
}

function called({ shown, capability, capabilityVersion }: Readonly<Record<string, unknown>>): string {
  const title = (shown as { readonly title?: unknown } | undefined)?.title;
  return `${plain(title)} (${plain(capability)}@${plain(capabilityVersion)})`;
}

const people = (list: unknown): string => (Array.isArray(list) ? list.map(plain).join(', ') : plain(list));

/** Visible, short, and without what begins or sets markup. */
function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '');
  const short = text.length > TEXT_CHARACTERS_MAX ? `${text.slice(0, TEXT_CHARACTERS_MAX)}…` : text;
  return entities(escapeForDisplay(short)).replace(/[*~`|]/g, ' ');
}

/** Slack, "Escaping text": these three begin links, mentions and entities. */
const entities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
