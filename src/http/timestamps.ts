/** A time of the wire contract (already held against its form) as it is stored: UTC with milliseconds. */
export const toUtc = (timestamp: string): string => new Date(timestamp).toISOString();
