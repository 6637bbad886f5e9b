"""Makes certificates for tests."""

import subprocess


def openssl(folder, *words):
	subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def make_certificates(folder, name, addresses=("127.0.0.1",)):
	"""Writes three certificates and their keys: ca.pem, a CA; server.pem for `name` and the
	addresses, signed by that CA; and other.pem, a CA that has signed nothing."""
	folder.mkdir(exist_ok=True)
	for who in ("ca", "other"):
		openssl(
			folder,
			"req",
			"-x509",
			"-newkey",
			"ec",
			"-pkeyopt",
			"ec_paramgen_curve:P-256",
			"-nodes",
			"-days",
			"2",
			"-subj",
			f"/CN={who}",
			"-keyout",
			f"{who}.key",
			"-out",
			f"{who}.pem",
		)
	openssl(
		folder,
		"req",
		"-newkey",
		"ec",
		"-pkeyopt",
		"ec_paramgen_curve:P-256",
		"-nodes",
		"-subj",
		f"/CN={name}",
		"-keyout",
		"server.key",
		"-out",
		"server.csr",
	)
	(folder / "names").write_text(
		f"subjectAltName=DNS:{name}" + "".join(f",IP:{address}" for address in addresses) + "\n"
	)
	openssl(
		folder,
		"x509",
		"-req",
		"-in",
		"server.csr",
		"-CA",
		"ca.pem",
		"-CAkey",
		"ca.key",
		"-CAcreateserial",
		"-days",
		"2",
		"-extfile",
		"names",
		"-out",
		"server.pem",
	)
	return folder
