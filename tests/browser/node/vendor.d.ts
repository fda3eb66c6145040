// The libraries of clients/web/vendor, as far as the page calls them. Their own files are minified and not read.
declare const library: any;
export default library;
